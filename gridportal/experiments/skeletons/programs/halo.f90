! Averages the neighbours of each point in several fields on a plane that is cut both ways; edges go to four neighbours
! by Isend, Irecv and Waitall. Usage: halo POINTS FIELDS STEPS; each rank has POINTS x POINTS.
program halo_exchange
  use mpi
  implicit none
  integer :: rank, ranks, points, fields, steps, step, plane, error
  integer :: sides(2), place(2), west, east, south, north
  real(8), allocatable :: now(:, :, :), next(:, :, :), outgoing(:, :, :), incoming(:, :, :)
  real(8) :: started, difference, worst

  call MPI_Init(error)
  started = MPI_Wtime()
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  points = argument(1)
  fields = argument(2)
  steps = argument(3)
  sides = 0
  call MPI_Dims_create(ranks, 2, sides, error)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, sides, [.false., .false.], .false., plane, error)
  call MPI_Comm_rank(plane, rank, error)
  call MPI_Cart_coords(plane, rank, 2, place, error)
  call MPI_Cart_shift(plane, 0, 1, west, east, error)
  call MPI_Cart_shift(plane, 1, 1, south, north, error)
  allocate (now(0:points + 1, 0:points + 1, fields), next(0:points + 1, 0:points + 1, fields))
  allocate (outgoing(points, fields, 4), incoming(points, fields, 4))
  call fill()
  do step = 1, steps
    call exchange()
    call average()
  end do
  difference = farthest()
  call MPI_Reduce(difference, worst, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, plane, error)
  if (rank == 0) then
    write (*, '(a,f0.6)') 'seconds ', MPI_Wtime() - started
    write (*, '(a,a)') 'verified ', trim(merge('yes', 'no ', worst < 1d-6))
  end if
  call MPI_Finalize(error)

contains

  integer function argument(at)
    integer, intent(in) :: at
    character(len=20) :: text
    call get_command_argument(at, text)
    read (text, *) argument
  end function argument

  ! A plane that slopes evenly stays as it is when each point becomes the mean of its neighbours.
  elemental real(8) function slope(i, j, field)
    integer, intent(in) :: i, j, field
    slope = real(field * (place(1) * points + i) + 2 * (place(2) * points + j), 8)
  end function slope

  ! What comes from neighbours is missing at first; the edge of the whole plane is there.
  subroutine fill()
    integer :: i, j, field
    do field = 1, fields
      do j = 0, points + 1
        do i = 0, points + 1
          now(i, j, field) = slope(i, j, field)
        end do
      end do
    end do
    next = now
    if (west /= MPI_PROC_NULL) now(0, :, :) = 0
    if (east /= MPI_PROC_NULL) now(points + 1, :, :) = 0
    if (south /= MPI_PROC_NULL) now(:, 0, :) = 0
    if (north /= MPI_PROC_NULL) now(:, points + 1, :) = 0
  end subroutine fill

  subroutine exchange()
    integer :: requests(8), neighbours(4), side
    neighbours = [west, east, south, north]
    outgoing(:, :, 1) = now(1, 1:points, :)
    outgoing(:, :, 2) = now(points, 1:points, :)
    outgoing(:, :, 3) = now(1:points, 1, :)
    outgoing(:, :, 4) = now(1:points, points, :)
    do side = 1, 4
      call MPI_Irecv(incoming(1, 1, side), points * fields, MPI_DOUBLE_PRECISION, neighbours(side), opposite(side), &
                     plane, requests(side), error)
    end do
    do side = 1, 4
      call MPI_Isend(outgoing(1, 1, side), points * fields, MPI_DOUBLE_PRECISION, neighbours(side), side, plane, &
                     requests(4 + side), error)
    end do
    call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE, error)
    if (west /= MPI_PROC_NULL) now(0, 1:points, :) = incoming(:, :, 1)
    if (east /= MPI_PROC_NULL) now(points + 1, 1:points, :) = incoming(:, :, 2)
    if (south /= MPI_PROC_NULL) now(1:points, 0, :) = incoming(:, :, 3)
    if (north /= MPI_PROC_NULL) now(1:points, points + 1, :) = incoming(:, :, 4)
  end subroutine exchange

  ! Messages are marked with the side on which they leave.
  integer function opposite(side)
    integer, intent(in) :: side
    opposite = merge(side + 1, side - 1, mod(side, 2) == 1)
  end function opposite

  subroutine average()
    integer :: i, j, field
    do field = 1, fields
      do j = 1, points
        do i = 1, points
          next(i, j, field) = 0.25d0 * (now(i - 1, j, field) + now(i + 1, j, field) &
                                        + now(i, j - 1, field) + now(i, j + 1, field))
        end do
      end do
    end do
    now(1:points, 1:points, :) = next(1:points, 1:points, :)
  end subroutine average

  real(8) function farthest()
    integer :: i, j, field
    farthest = 0
    do field = 1, fields
      do j = 1, points
        do i = 1, points
          farthest = max(farthest, abs(now(i, j, field) - slope(i, j, field)))
        end do
      end do
    end do
  end function farthest
end program halo_exchange
