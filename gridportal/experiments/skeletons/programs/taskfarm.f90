! A master hands out tasks of different length to whoever is free, and takes results from anybody.
! Usage: taskfarm TASKS LENGTH RESULT; LENGTH is thousands of steps of a mean task, RESULT numbers come back.
program task_farm
  use mpi
  implicit none
  integer, parameter :: give = 1, finish = 2
  integer :: rank, ranks, tasks, length, numbers, error
  real(8), allocatable :: found(:)
  real(8) :: started, total

  call MPI_Init(error)
  started = MPI_Wtime()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  tasks = argument(1)
  length = argument(2)
  numbers = argument(3)
  allocate (found(numbers))
  if (rank == 0) then
    call master()
    write (*, '(a,f0.6)') 'seconds ', MPI_Wtime() - started
    write (*, '(a,a)') 'verified ', trim(merge('yes', 'no ', abs(total - expected()) < 1d-6 * expected()))
  else
    call worker()
  end if
  call MPI_Finalize(error)

contains

  integer function argument(at)
    integer, intent(in) :: at
    character(len=20) :: text
    call get_command_argument(at, text)
    read (text, *) argument
  end function argument

  ! Thousands of steps of a task, from half the mean to one and a half times it.
  integer function steps(task)
    integer, intent(in) :: task
    steps = length / 2 + mod(task * 37, length + 1)
  end function steps

  subroutine master()
    integer :: next, open, status(MPI_STATUS_SIZE)
    total = 0
    open = ranks - 1
    next = 0
    do while (open > 0)
      call MPI_Recv(found, numbers, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, error)
      if (status(MPI_TAG) == finish) total = total + found(1)
      next = next + 1
      if (next > tasks) open = open - 1
      call MPI_Send(merge(next, 0, next <= tasks), 1, MPI_INTEGER, status(MPI_SOURCE), give, MPI_COMM_WORLD, error)
    end do
  end subroutine master

  ! The first message asks; each later one brings what was found.
  subroutine worker()
    integer :: task
    call MPI_Send(found, 1, MPI_DOUBLE_PRECISION, 0, give, MPI_COMM_WORLD, error)
    do
      call MPI_Recv(task, 1, MPI_INTEGER, 0, give, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      if (task == 0) exit
      found = quarter(steps(task))
      call MPI_Send(found, numbers, MPI_DOUBLE_PRECISION, 0, finish, MPI_COMM_WORLD, error)
    end do
  end subroutine worker

  ! An integral over a quarter of a circle, which has the area of pi/4, times 4/pi.
  real(8) function quarter(thousands)
    integer, intent(in) :: thousands
    integer :: step, all_steps
    real(8) :: area
    all_steps = 1000 * thousands
    area = 0
    do step = 1, all_steps
      area = area + sqrt(1 - ((step - 0.5d0) / all_steps)**2)
    end do
    quarter = area / all_steps * 4 / acos(-1d0)
  end function quarter

  real(8) function expected()
    expected = real(tasks, 8)
  end function expected
end program task_farm
